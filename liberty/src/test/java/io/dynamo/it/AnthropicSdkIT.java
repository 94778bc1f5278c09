package io.dynamo.it;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Anthropic's SDKs for Python and Node, unmodified, from the folders that {@code -Ddynamo.it.peer}
 * and {@code -Ddynamo.it.node} name; left out without these properties.
 */
@BuildServer
class AnthropicSdkIT {
  @TempDir Path folder;

  @Test
  void pythonIsServed() throws Exception {
    SdkScript.python("anthropic_sdk.py").run(folder, System.getProperty("base.url"));
  }

  @Test
  void nodeIsServed() throws Exception {
    SdkScript.node("anthropic-sdk.mjs", "@anthropic-ai/sdk")
        .run(folder, System.getProperty("base.url"));
  }
}
