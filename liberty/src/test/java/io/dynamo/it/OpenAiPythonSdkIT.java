package io.dynamo.it;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * OpenAI's SDK for Python and what is built upon it, unmodified, from the environment that {@code
 * -Ddynamo.it.peer} names; left out without the property.
 */
@BuildServer
class OpenAiPythonSdkIT {
  @TempDir Path folder;

  @Test
  void sdkIsServed() throws Exception {
    Cancellations.expectOne("chat_completions", () -> run("openai_sdk.py"));
  }

  @Test
  void vectorsOfTheModelAreServed() throws Exception {
    run("openai_vectors.py");
  }

  @Test
  void frameworksAreServed() throws Exception {
    run("frameworks.py");
  }

  @Test
  void responsesAreServed() throws Exception {
    Cancellations.expectOne("responses", () -> run("openai_responses.py"));
  }

  private void run(String program) throws Exception {
    SdkScript.python(program).run(folder, System.getProperty("base.url"));
  }
}
