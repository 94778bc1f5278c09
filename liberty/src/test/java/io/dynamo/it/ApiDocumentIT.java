package io.dynamo.it;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code /openapi.json} beside the server that serves it: answers have the fields that it describes
 * and no others, and a client generated from it, by openapi-python-client, works. Left out without
 * the Python environment that {@code -Ddynamo.it.peer} names.
 */
@BuildServer
class ApiDocumentIT {
  @TempDir Path folder;

  @Test
  void answersAreAsDescribedAndAGeneratedClientWorks() throws Exception {
    SdkScript.python("api_document.py").run(folder, System.getProperty("base.url"));
  }
}
