package io.dynamo.it;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * OpenAI's SDK for Node, unmodified, from the folder that {@code -Ddynamo.it.node} names; left out
 * without the property.
 */
@BuildServer
class OpenAiNodeSdkIT {
  @TempDir Path folder;

  @Test
  void sdkIsServed() throws Exception {
    SdkScript.node("openai-sdk.mjs").run(folder, System.getProperty("base.url"));
  }

  @Test
  void responsesAreServed() throws Exception {
    SdkScript.node("openai-responses.mjs").run(folder, System.getProperty("base.url"));
  }
}
