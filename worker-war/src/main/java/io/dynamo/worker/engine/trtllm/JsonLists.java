package io.dynamo.worker.engine.trtllm;

import io.dynamo.json.Json;
import io.dynamo.json.JsonObject;
import io.dynamo.worker.engine.remote.EngineAnswer;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Reads answers that are a JSON list of objects. Stateless. */
final class JsonLists {
  private static final byte[] HEAD = "{\"list\":".getBytes(StandardCharsets.US_ASCII);

  private JsonLists() {}

  /**
   * Returns the objects; none of an answer other than 200.
   *
   * @throws IllegalArgumentException when the body is no such list
   */
  static List<JsonObject> objects(String path, EngineAnswer answer) {
    if (answer.statusCode() != 200) {
      return List.of();
    }
    var wrapped = new ByteArrayOutputStream(HEAD.length + answer.body().length + 1);
    wrapped.writeBytes(HEAD);
    wrapped.writeBytes(answer.body());
    wrapped.write('}');
    try {
      return Json.readObject(wrapped.toByteArray()).optionalObjects("list");
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(path + " answers no list of objects", e);
    }
  }
}
