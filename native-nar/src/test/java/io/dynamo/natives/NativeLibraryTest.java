package io.dynamo.natives;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NativeLibraryTest {
  private static final long GC_MILLIS = 20_000;

  @Test
  void theLibraryThatThisBuildMadeIsLoaded() {
    assertThat(NativeLibrary.cause()).isNull();
    assertThat(NativeLibrary.isAvailable()).isTrue();
  }

  @Test
  void theProbeNamesEveryOptionalLibrary() {
    assertThat(NativeLibrary.probe())
        .startsWith("{\"available\":true,\"directory\":\"/")
        .contains("\"shared_memory\":{\"present\":true}", "\"fault\":{\"contexts\":0}")
        .contains("\"crc32c\":\"", "\"for\":\"cuda\"", "\"for\":\"ucx\"", "\"for\":\"nixl\"")
        .endsWith("}]}}");
  }

  @Test
  void theFolderOfTheSettingsComesFirst(@TempDir Path folder) throws Exception {
    try (var loader = loader()) {
      var library = loader.loadClass("io.dynamo.natives.NativeLibrary");
      library.getMethod("extractInto", List.class).invoke(null, List.of(folder));

      assertThat((String) library.getMethod("probe").invoke(null))
          .contains("\"directory\":\"" + folder + "\"");
    }
  }

  /** Simulates a server that restarts an application: the class loader goes, a new one comes. */
  @Test
  void fiveRestartsLeaveNoClassLoaderAndNoThreadBehind() throws Exception {
    NativeLibrary.probe();
    var threads = new HashSet<>(Thread.getAllStackTraces().keySet());
    var dropped = new ReferenceQueue<ClassLoader>();
    var loaders = new HashSet<WeakReference<ClassLoader>>();
    for (var restart = 0; restart < 5; restart++) {
      loaders.add(new WeakReference<>(runApplication(), dropped));
    }
    var started = new HashSet<>(Thread.getAllStackTraces().keySet());
    started.removeAll(threads);
    assertThat(started)
        .noneMatch(thread -> thread.getContextClassLoader() instanceof URLClassLoader);

    var deadline = System.nanoTime() + GC_MILLIS * 1_000_000;
    while (!loaders.isEmpty() && System.nanoTime() < deadline) {
      System.gc();
      for (var gone = dropped.remove(100); gone != null; gone = dropped.poll()) {
        loaders.remove(gone);
      }
    }
    assertThat(loaders).as("class loaders that were not unloaded").isEmpty();
  }

  /** Returns the class loader of another application, which loads the library again. */
  private static URLClassLoader loader() {
    var classes =
        new URL[] {NativeLibrary.class.getProtectionDomain().getCodeSource().getLocation()};
    return new URLClassLoader(classes, ClassLoader.getPlatformClassLoader());
  }

  private static ClassLoader runApplication() throws Exception {
    try (var loader = loader()) {
      var library = loader.loadClass("io.dynamo.natives.NativeLibrary");
      assertThat(library).isNotSameAs(NativeLibrary.class);
      assertThat(library.getMethod("isAvailable").invoke(null))
          .as("%s", library.getMethod("cause").invoke(null))
          .isEqualTo(true);
      var transfer = loader.loadClass("io.dynamo.natives.NativeTransfer");
      // left open on purpose: regions that an application leaks are freed with its library
      assertThat((long) transfer.getMethod("allocate", long.class).invoke(null, 1L << 20))
          .isPositive();
      assertThat(transfer.getMethod("heldBytes").invoke(null)).isEqualTo(1L << 20);
      var hangUps = loader.loadClass("io.dynamo.natives.HangUps");
      ((AutoCloseable) hangUps.getMethod("opened").invoke(null)).close();
      assertThat((String) library.getMethod("probe").invoke(null)).contains("cuda");
      return loader;
    }
  }
}
