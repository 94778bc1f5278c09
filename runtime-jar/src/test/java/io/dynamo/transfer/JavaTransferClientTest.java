package io.dynamo.transfer;

/** Runs the contract on the thread without native code. */
class JavaTransferClientTest extends TransferClientContract {
  @Override
  protected HostMemory newMemory() {
    return new JavaHostMemory();
  }
}
