package io.dynamo.it;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code /openapi.json} beside the server that serves it: a client generated from it, by
 * openapi-python-client, calls each of its operations, and every answer is as described. What
 * workers of other kinds answer is compared where these are tested. Left out without the Python
 * environment that {@code -Ddynamo.it.peer} names.
 */
@BuildServer
class ApiDocumentIT {
  @TempDir Path folder;

  @Test
  void aGeneratedClientGetsDescribedAnswersFromEveryOperation() throws Exception {
    SdkScript.python("api_document.py", "described_api.py")
        .run(folder, System.getProperty("base.url"));
  }
}
