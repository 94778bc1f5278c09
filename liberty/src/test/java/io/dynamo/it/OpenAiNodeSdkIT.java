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
    serve("openai-sdk.mjs", "chat_completions");
  }

  @Test
  void responsesAreServed() throws Exception {
    serve("openai-responses.mjs", "responses");
  }

  /**
   * Runs a program.
   *
   * @param left the endpoint of which it leaves a stream
   */
  private void serve(String program, String left) throws Exception {
    Cancellations.expectOne(
        left, () -> SdkScript.node(program).run(folder, System.getProperty("base.url")));
  }
}
