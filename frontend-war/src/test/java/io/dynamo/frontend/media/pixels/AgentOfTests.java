package io.dynamo.frontend.media.pixels;

import io.dynamo.concurrent.Deadline;
import io.dynamo.transfer.nixl.Connector;
import io.dynamo.transfer.nixl.Device;
import io.dynamo.transfer.nixl.NixlAgent;
import io.dynamo.transfer.nixl.NixlCommand;
import io.dynamo.transfer.nixl.NixlException;
import org.jspecify.annotations.Nullable;

/**
 * An agent without a network, which registers all memory or none.
 *
 * @param absent why it registers none; null registers all
 */
public record AgentOfTests(@Nullable NixlException absent) implements NixlAgent {
  /** Makes a connector with such an agent. */
  public static Connector connector(@Nullable NixlException absent) {
    return new Connector(_ -> new AgentOfTests(absent));
  }

  private <T> NixlCommand<T> ended(T result) {
    var command = new NixlCommand<T>(() -> 0, () -> {});
    if (absent == null) {
      command.complete(result);
    } else {
      command.fail(absent);
    }
    return command;
  }

  @Override
  public NixlCommand<String> ready() {
    return ended("");
  }

  @Override
  public NixlCommand<Long> register(long address, long byteSize, Device device) {
    return ended(1L);
  }

  @Override
  public NixlCommand<Long> deregister(long registration) {
    return ended(registration);
  }

  @Override
  public NixlCommand<byte[]> metadata() {
    return ended(new byte[] {1, 2, 3});
  }

  @Override
  public NixlCommand<String> watch(byte[] key, Deadline deadline) {
    return ended("");
  }

  @Override
  public NixlCommand<Long> transfer(Order order) {
    return ended(0L);
  }

  @Override
  public boolean end() {
    return true;
  }
}
