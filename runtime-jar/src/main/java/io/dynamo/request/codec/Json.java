package io.dynamo.request.codec;

import com.fasterxml.jackson.core.JsonFactory;

/** The one JSON factory of the request plane; its symbol table makes field names free. */
final class Json {
  static final JsonFactory FACTORY = new JsonFactory();

  private Json() {}
}
