package io.dynamo.transfer.jni;

import io.dynamo.natives.NativeStatus;
import io.dynamo.transfer.jni.TransferPair.Fault;
import java.time.Duration;
import java.util.Map;

/** Makes plans of faults for contexts of the native library. Stateless. */
final class FaultPlans {
  /** How late a transfer with {@link Fault#DELAY} begins. */
  static final Duration DELAY = Duration.ofMillis(50);

  /** The errno of a disk that fails, EIO. */
  static final int DISK_ERROR = 5;

  private FaultPlans() {}

  /**
   * Plans the faults of a copying thread.
   *
   * @param before transfers that a test needs before the first one that counts
   */
  static NativeFaults of(Map<Integer, Fault> faults, int before) {
    return plan(faults, before, false);
  }

  /** Plans the faults of disk space, whose failures have an errno. */
  static NativeFaults ofDisk(Map<Integer, Fault> faults, int before) {
    return plan(faults, before, true);
  }

  private static NativeFaults plan(Map<Integer, Fault> faults, int before, boolean onDisk) {
    var plan = NativeFaults.NONE;
    for (var one : faults.entrySet()) {
      int number = one.getKey() + before;
      plan =
          switch (one.getValue()) {
            case DELAY -> plan.delay(number, DELAY);
            case DROP -> plan.drop(number);
            case SHORT -> plan.shorten(number);
            case CORRUPT -> plan.corrupt(number);
            case FAIL ->
                onDisk ? plan.fail(number, DISK_ERROR) : plan.fail(number, NativeStatus.IO);
          };
    }
    return plan;
  }
}
