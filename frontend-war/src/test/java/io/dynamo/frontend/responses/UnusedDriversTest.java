package io.dynamo.frontend.responses;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** A server that stores nothing loads no database driver: they register themselves for good. */
class UnusedDriversTest {
  /** Loads the classes of this test's class path once more. */
  private static final class FreshLoader extends URLClassLoader {
    FreshLoader(URL[] classPath) {
      super(classPath, ClassLoader.getPlatformClassLoader());
    }

    boolean hasLoaded(String name) {
      return findLoadedClass(name) != null;
    }
  }

  @Test
  void databaseThatWasNeverOpenedLoadsNoDriver() throws Exception {
    try (var loader = fresh()) {
      var folder = Path.of("unused");
      closeNew(loader, "EmbeddedDatabase", new Class<?>[] {Path.class}, folder);
      closeNew(
          loader,
          "PostgresDatabase",
          new Class<?>[] {String.class, String.class, String.class},
          "jdbc:postgresql://localhost/none",
          "user",
          "password");

      assertThat(loader.hasLoaded("io.dynamo.frontend.responses.PostgresDatabase")).isTrue();
      assertThat(loader.hasLoaded("org.h2.Driver")).isFalse();
      assertThat(loader.hasLoaded("org.postgresql.Driver")).isFalse();
    }
  }

  private static FreshLoader fresh() throws IOException {
    var urls =
        Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
            .map(it -> Path.of(it).toUri())
            .toArray(URI[]::new);
    var classPath = new URL[urls.length];
    for (int i = 0; i < urls.length; i++) {
      classPath[i] = urls[i].toURL();
    }
    return new FreshLoader(classPath);
  }

  private static void closeNew(
      ClassLoader loader, String type, Class<?>[] parameters, Object... arguments)
      throws ReflectiveOperationException {
    var loaded = loader.loadClass("io.dynamo.frontend.responses." + type);
    var constructor = loaded.getDeclaredConstructor(parameters);
    constructor.setAccessible(true);
    var database = constructor.newInstance(arguments);
    var close = // of the interface: reflection on the class itself loads what it mentions
        loader.loadClass("io.dynamo.frontend.responses.Database").getDeclaredMethod("close");
    close.setAccessible(true);
    close.invoke(database);
  }
}
