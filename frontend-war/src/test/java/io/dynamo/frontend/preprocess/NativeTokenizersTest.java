package io.dynamo.frontend.preprocess;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.concurrent.Deadline;
import java.io.File;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class NativeTokenizersTest {
  private static final int[] EXPECTED = {4088, 333, 198};

  @Test
  void fiveClassLoadersOfOneJvmLoadTheLibraryAndLeaveNothingBehind() throws Exception {
    var threads = threads();
    var folders = folders();
    for (int load = 0; load < 5; load++) {
      var loader = encodeInFreshLoader();
      var patience = Deadline.after(Duration.ofSeconds(30));
      while (loader.get() != null && !patience.isExpired()) {
        System.gc(); // some threads let go of the loader a little later
      }
      assertThat(loader.get()).as("class loader %d is collected", load).isNull();
    }

    assertThat(folders()).isEqualTo(folders);
    assertThat(threads()).isEqualTo(threads);
    try (var text = HuggingFaceText.open(HuggingFaceTextTest.TINY)) {
      assertThat(text.encode("<|im_start|>user\n")).isEqualTo(EXPECTED);
    }
  }

  private static WeakReference<ClassLoader> encodeInFreshLoader() throws Exception {
    try (var loader = new URLClassLoader(classPath(), ClassLoader.getPlatformClassLoader())) {
      var type = loader.loadClass(HuggingFaceText.class.getName());
      assertThat(type).isNotSameAs(HuggingFaceText.class);
      var text = type.getMethod("open", Path.class).invoke(null, HuggingFaceTextTest.TINY);
      var ids = (int[]) type.getMethod("encode", String.class).invoke(text, "<|im_start|>user\n");
      type.getMethod("close").invoke(text);
      assertThat(ids).isEqualTo(EXPECTED);
      return new WeakReference<>(loader);
    }
  }

  private static URL[] classPath() throws IOException {
    var entries = System.getProperty("java.class.path").split(File.pathSeparator, -1);
    var urls = new URL[entries.length];
    for (int i = 0; i < entries.length; i++) {
      urls[i] = Path.of(entries[i]).toUri().toURL();
    }
    return urls;
  }

  private static Set<String> threads() {
    return Thread.getAllStackTraces().keySet().stream()
        .map(Thread::getName)
        .collect(Collectors.toSet());
  }

  private static Set<Path> folders() throws IOException {
    try (var entries = Files.list(Path.of(System.getProperty("java.io.tmpdir")))) {
      return entries
          .filter(path -> path.getFileName().toString().startsWith("dynamo-tokenizers-"))
          .collect(Collectors.toSet());
    }
  }
}
