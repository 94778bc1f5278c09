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
    SdkScript.python("openai_sdk.py").run(folder, System.getProperty("base.url"));
  }

  @Test
  void vectorsOfTheModelAreServed() throws Exception {
    SdkScript.python("openai_vectors.py").run(folder, System.getProperty("base.url"));
  }

  @Test
  void frameworksAreServed() throws Exception {
    SdkScript.python("frameworks.py").run(folder, System.getProperty("base.url"));
  }

  @Test
  void responsesAreServed() throws Exception {
    SdkScript.python("openai_responses.py").run(folder, System.getProperty("base.url"));
  }
}
