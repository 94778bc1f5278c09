package io.dynamo.transfer.jni;

import io.dynamo.transfer.JavaHostMemory;
import java.nio.file.Path;
import java.util.Map;

/** The pairs of places that bytes are moved between, each by the code that the product has. */
enum TransferPair {
  JAVA_COPY,
  NATIVE_COPY,
  SHARED_MEMORY,
  NETWORK,
  /** UCX by the library of tests that takes its place. */
  UCX,
  /** UCX by its own library, over TCP, where the environment of peers has one. */
  UCX_OVER_TCP,
  DISK_WRITE,
  DISK_READ,
  DISK_TO_DISK,
  HOST_TO_DEVICE,
  DEVICE_TO_HOST,
  DEVICE_TO_DEVICE,
  DEVICE_TO_DISK,
  DISK_TO_DEVICE,
  DISK_TO_SHARED_MEMORY,
  DISK_TO_NETWORK,
  DEVICE_TO_SHARED_MEMORY,
  DEVICE_TO_NETWORK;

  /** The things that go wrong with a transfer. */
  enum Fault {
    /** It begins late. */
    DELAY,
    /** It never begins: its deadline or a cancellation ends it. */
    DROP,
    /** It fails after half of its bytes. */
    SHORT,
    /** One bit arrives inverted. */
    CORRUPT,
    /** It fails before a byte is moved. */
    FAIL
  }

  /**
   * Opens the path.
   *
   * @param folder of disk space
   * @param faults of the transfers by their number, from 1; for pairs that take them
   */
  TransferPath open(Path folder, Map<Integer, Fault> faults) {
    return switch (this) {
      case JAVA_COPY -> new CopyPath(new JavaHostMemory());
      case NATIVE_COPY -> new CopyPath(new NativeHostMemory(FaultPlans.of(faults, 0)));
      case SHARED_MEMORY, NETWORK -> new ExchangePath(this == SHARED_MEMORY, faults);
      case UCX, UCX_OVER_TCP -> new UcxPath(this == UCX ? FakeUcx.library() : LiveUcx.library());
      case DISK_WRITE, DISK_READ -> new DiskPath(this == DISK_WRITE, folder, faults);
      case HOST_TO_DEVICE -> DevicePath.copying(false, true);
      case DEVICE_TO_HOST -> DevicePath.copying(true, false);
      case DEVICE_TO_DEVICE -> DevicePath.copying(true, true);
      case DISK_TO_DISK -> DevicePath.staged(folder, false, false);
      case DEVICE_TO_DISK -> DevicePath.staged(folder, true, false);
      case DISK_TO_DEVICE -> DevicePath.staged(folder, false, true);
      case DISK_TO_SHARED_MEMORY, DISK_TO_NETWORK ->
          RelayPath.fromDisk(folder, this == DISK_TO_SHARED_MEMORY);
      case DEVICE_TO_SHARED_MEMORY, DEVICE_TO_NETWORK ->
          RelayPath.fromDevice(this == DEVICE_TO_SHARED_MEMORY);
    };
  }
}
