package io.dynamo.config.plane;

/** Says when regions of other processes are written by UCX. */
public enum UcxMode {
  /** Never; the library is not opened. */
  OFF,
  /** Where a network card places the bytes (RDMA), and memory is not shared anyway. */
  AUTO,
  /** Wherever UCX finds a way, also over TCP. */
  ALWAYS
}
