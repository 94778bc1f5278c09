package io.dynamo.transfer.jni;

import io.dynamo.natives.NativeLibrary;
import io.dynamo.transfer.HostMemory;
import io.dynamo.transfer.JavaHostMemory;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The best host memory available on this machine.
 *
 * @param memory closed by the caller
 * @param whyNotNative why plain Java is used, or null when native memory is
 */
public record HostMemorySelection(HostMemory memory, @Nullable String whyNotNative) {
  private static final System.Logger LOG = System.getLogger(HostMemorySelection.class.getName());

  /**
   * Opens native memory, or plain Java's with a warning that gives the reason.
   *
   * @param extractInto folders to unpack the native library to, tried in order
   */
  public static HostMemorySelection open(List<Path> extractInto) {
    NativeLibrary.extractInto(extractInto);
    return choose(NativeLibrary.isAvailable(), NativeLibrary.cause());
  }

  static HostMemorySelection choose(boolean nativeAvailable, @Nullable String cause) {
    if (nativeAvailable) {
      return new HostMemorySelection(new NativeHostMemory(), null);
    }
    var why = cause == null ? "the native library is absent" : cause;
    LOG.log(System.Logger.Level.WARNING, "host memory is plain Java, not native: {0}", why);
    return new HostMemorySelection(new JavaHostMemory(), why);
  }
}
