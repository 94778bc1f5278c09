package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * OpenAI's SDK for Node, unmodified, from the folder that {@code -Ddynamo.it.node} names. {@code
 * -Ddynamo.it.node=skip} leaves it out; without the property it fails.
 */
@Tag("build-server")
class OpenAiNodeSdkIT {
  @TempDir Path folder;

  @Test
  void sdkIsServed() throws Exception {
    var modules = System.getProperty("dynamo.it.node", "");
    assumeFalse(modules.equals("skip"), "left out on request");
    assertThat(Path.of(modules, "node_modules/openai"))
        .as("-Ddynamo.it.node=<folder with node_modules/openai>, or skip")
        .isDirectory();
    var script = folder.resolve("openai-sdk.mjs");
    try (InputStream source = getClass().getResourceAsStream("openai-sdk.mjs")) {
      Files.copy(Objects.requireNonNull(source), script);
    }
    var log = folder.resolve("node.log");

    var node =
        new ProcessBuilder(
                "node", script.toString(), System.getProperty("base.url") + "/v1", Cluster.MODEL)
            .directory(Path.of(modules).toFile())
            .redirectErrorStream(true)
            .redirectOutput(log.toFile())
            .start();
    try {
      assertThat(node.waitFor(2, TimeUnit.MINUTES)).as("ended in time").isTrue();
      assertThat(node.exitValue()).as(Files.readString(log)).isZero();
    } finally {
      node.destroyForcibly();
    }
  }
}
