package io.dynamo.transfer;

class JavaHostMemoryTest extends HostMemoryContract {
  @Override
  protected HostMemory newMemory() {
    return new JavaHostMemory();
  }
}
