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
    serve(SdkScript.python("anthropic_sdk.py"));
  }

  @Test
  void nodeIsServed() throws Exception {
    serve(SdkScript.node("anthropic-sdk.mjs", "@anthropic-ai/sdk"));
  }

  private void serve(SdkScript script) throws Exception {
    Cancellations.expectOne(
        "anthropic_messages", () -> script.run(folder, System.getProperty("base.url")));
  }
}
