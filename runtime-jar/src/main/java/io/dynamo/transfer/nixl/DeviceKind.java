package io.dynamo.transfer.nixl;

/** The kinds of memory that a descriptor may be of. Numbers and names are those of Dynamo. */
public enum DeviceKind {
  UNSPECIFIED(0, "<invalid>", 1),
  /** Memory of the host. */
  HOST(1, "cpu", 0),
  /** Memory of a GPU that CUDA addresses. */
  CUDA(2, "cuda", 1),
  /** Memory of a GPU of Intel. */
  XPU(3, "xpu", 1);

  private final int number;
  private final String text;
  private final int memory;

  DeviceKind(int number, String text, int memory) {
    this.number = number;
    this.text = text;
    this.memory = memory;
  }

  public int number() {
    return number;
  }

  /** Returns the number that NIXL has for the memory: 0 for that of a host, 1 for a device's. */
  public int memory() {
    return memory;
  }

  @Override
  public String toString() {
    return text;
  }
}
