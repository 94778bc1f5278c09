package io.dynamo.transfer.jni;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.dynamo.transfer.nixl.Connector;
import io.dynamo.transfer.nixl.NixlLimits;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The library of native-nar's tests that takes NIXL's place: agents of one process, whose
 * parameters decide what goes wrong. Compiled once; without a compiler its tests are left out.
 */
final class FakeNixl {
  private static final Path SOURCE = Path.of("../native-nar/src/test/c++/fake/nixl_capi.cpp");
  private static @Nullable Path compiled; // guarded by the class

  private FakeNixl() {}

  static synchronized Path library() throws IOException, InterruptedException {
    var known = compiled;
    if (known == null) {
      var folder = Files.createTempDirectory("fake-nixl");
      folder.toFile().deleteOnExit();
      known = folder.resolve("libnixl_capi.so");
      known.toFile().deleteOnExit();
      var compiler = System.getenv().getOrDefault("CXX", "g++");
      assumeTrue(isThere(compiler), "left out: there is no compiler " + compiler);
      var process =
          new ProcessBuilder(
                  compiler, "-std=c++17", "-fPIC", "-shared", SOURCE.toString(), "-o", "" + known)
              .inheritIO()
              .start();
      assertThat(process.waitFor(2, TimeUnit.MINUTES)).isTrue();
      assertThat(process.exitValue()).isZero();
      compiled = known;
    }
    return known;
  }

  private static boolean isThere(String compiler) throws InterruptedException {
    try {
      return new ProcessBuilder(compiler, "--version").start().waitFor() == 0;
    } catch (IOException absent) {
      return false;
    }
  }

  /** Returns a connector with a name of its own. */
  static Connector connector(Map<String, String> parameters, NixlLimits limits)
      throws IOException, InterruptedException {
    var backend = new NixlLibrary.Backend("UCX", parameters);
    return new Connector(
        UUID.randomUUID().toString(), new NixlLibrary(library(), null, List.of(backend)), limits);
  }
}
