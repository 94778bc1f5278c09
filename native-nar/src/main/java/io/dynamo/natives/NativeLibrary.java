package io.dynamo.natives;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.StandardCopyOption;

/**
 * Loads the JNI library once per class loader, each time from a file of its own: a JVM refuses one
 * path in two loaders.
 */
public final class NativeLibrary {
  private static final String CAUSE = load();

  private NativeLibrary() {}

  /** Why the library is absent, or null when it is loaded. */
  public static String cause() {
    return CAUSE;
  }

  /** What optional libraries this machine has. */
  public static native String probe();

  @SuppressWarnings("restricted") // loading a library is the purpose
  private static String load() {
    var resource =
        "META-INF/native/"
            + System.getProperty("os.name")
            + "-"
            + System.getProperty("os.arch")
            + "/libdynamonative.so";
    try (var in = NativeLibrary.class.getClassLoader().getResourceAsStream(resource)) {
      if (in == null) {
        return "no " + resource;
      }
      var copy = Files.createTempFile("libdynamonative", ".so");
      Files.copy(in, copy, StandardCopyOption.REPLACE_EXISTING);
      System.load(copy.toString());
      Files.delete(copy);
      return null;
    } catch (IOException | UnsatisfiedLinkError e) {
      return e.toString();
    }
  }
}
