package io.dynamo.transfer.jni;

import io.dynamo.natives.NativeStatus;
import java.time.Duration;
import java.util.stream.LongStream;

/**
 * Transfers of one context of the native library that go wrong on purpose, by their number: the
 * first one is 1. For tests and diagnosis: no setting and no request makes a context with faults,
 * its opening is logged, and the library's probe counts those that are open. Immutable.
 */
final class NativeFaults {
  /** No faults, at no cost. */
  static final NativeFaults NONE = new NativeFaults(new long[0]);

  private static final int DELAY = 1;
  private static final int DROP = 2;
  private static final int SHORT = 3;
  private static final int CORRUPT = 4;
  private static final int FAIL = 5;

  private final long[] words;

  private NativeFaults(long[] words) {
    this.words = words;
  }

  /** Lets a transfer begin late. */
  NativeFaults delay(int number, Duration time) {
    return with(number, DELAY, time.toNanos());
  }

  /** Lets a transfer never begin: its deadline or a cancellation ends it. */
  NativeFaults drop(int number) {
    return with(number, DROP, 0);
  }

  /** Lets a transfer fail after half of its bytes. */
  NativeFaults shorten(int number) {
    return with(number, SHORT, 0);
  }

  /** Inverts a bit of the first byte that a transfer moves, and says nothing. */
  NativeFaults corrupt(int number) {
    return with(number, CORRUPT, 0);
  }

  /** Lets a transfer fail before a byte is moved. */
  NativeFaults fail(int number, NativeStatus status) {
    return with(number, FAIL, status.code());
  }

  /** Lets a transfer fail before a byte is moved, by an error of the kernel. */
  NativeFaults fail(int number, int errno) {
    return with(number, FAIL, errno);
  }

  private NativeFaults with(long... fault) {
    return new NativeFaults(
        LongStream.concat(LongStream.of(words), LongStream.of(fault)).toArray());
  }

  boolean isEmpty() {
    return words.length == 0;
  }

  /** Returns the plan as the library reads it. */
  long[] toArray() {
    return words.clone();
  }
}
