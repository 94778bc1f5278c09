package io.dynamo.transfer.jni;

import io.dynamo.concurrent.Deadline;
import io.dynamo.transfer.nixl.Device;
import io.dynamo.transfer.nixl.NixlAgent;
import io.dynamo.transfer.nixl.NixlCommand;
import io.dynamo.transfer.nixl.NixlException;

/** An agent on a host without the native library: every command fails with the reason. */
final class AbsentNixlAgent implements NixlAgent {
  private final String reason;

  AbsentNixlAgent(String reason) {
    this.reason = reason;
  }

  private <T> NixlCommand<T> absent() {
    var command = new NixlCommand<T>(() -> -1, () -> {});
    command.fail(new NixlException(NixlException.Reason.ABSENT, reason));
    return command;
  }

  @Override
  public NixlCommand<String> ready() {
    return absent();
  }

  @Override
  public NixlCommand<Long> register(long address, long byteSize, Device device) {
    return absent();
  }

  @Override
  public NixlCommand<Long> deregister(long registration) {
    return absent();
  }

  @Override
  public NixlCommand<byte[]> metadata() {
    return absent();
  }

  @Override
  public NixlCommand<String> watch(byte[] key, Deadline deadline) {
    return absent();
  }

  @Override
  public NixlCommand<Long> transfer(Order order) {
    return absent();
  }

  @Override
  public boolean end() {
    return true;
  }
}
