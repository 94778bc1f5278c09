package io.dynamo.transfer;

/** One means of moving bytes from one place to another, without an intermediate copy. */
public enum TransferLane {
  /** Copies between memory of the host. */
  COPY("mem"),
  /** Writes into memory that another process of this host lends, or reads it. */
  SHARED_MEMORY("shm"),
  /** Writes into memory of another process by UCX, whose network cards place the bytes. */
  UCX("ucx"),
  /** Writes into memory of another process over a network, or reads it. */
  NETWORK("tcp"),
  /** Reads and writes files. */
  DISK("disk"),
  /** Copies to, from and between GPUs. */
  DEVICE_COPY("cuda"),
  /** Reads and writes files straight from a GPU's memory. */
  DEVICE_DISK("gds"),
  /** Writes from a GPU's memory, or into one, over a network. */
  DEVICE_NETWORK("gpu-rdma");

  private final String label;

  TransferLane(String label) {
    this.label = label;
  }

  /** Returns the name that operators know it by. */
  public String label() {
    return label;
  }
}
