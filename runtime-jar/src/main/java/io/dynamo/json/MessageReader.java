package io.dynamo.json;

import com.fasterxml.jackson.core.JsonParseException;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads one message into objects, lists and values. Depth is bounded by the parser. */
final class MessageReader {
  private final JsonParser parser;
  private final MessageShape shape;

  MessageReader(JsonParser parser, MessageShape shape) {
    this.parser = parser;
    this.shape = shape;
  }

  /** Returns the members of the object that is the whole text; null when that is something else. */
  @Nullable Members read() throws IOException {
    var message = parser.nextToken() == JsonToken.START_OBJECT ? object(shape) : null;
    if (message != null && parser.nextToken() != null) {
      throw new JsonParseException(parser, "something follows the object");
    }
    return message;
  }

  private Members object(MessageShape of) throws IOException {
    var members = new LinkedHashMap<String, @Nullable Object>();
    for (var name = parser.nextFieldName(); name != null; name = parser.nextFieldName()) {
      parser.nextToken();
      if (of.skipped().contains(name)) {
        parser.skipChildren();
      } else {
        int before = members.size();
        members.put(name, value(of.opened().contains(name) ? of : MessageShape.WHOLE));
        if (members.size() == before) {
          throw new JsonParseException(parser, "member \"" + name + "\" comes twice");
        }
      }
    }
    return Members.owned(members);
  }

  private @Nullable Object value(MessageShape of) throws IOException {
    return switch (parser.currentToken()) {
      case START_OBJECT -> object(of);
      case START_ARRAY -> list(of);
      case VALUE_STRING -> parser.getText();
      case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> parser.getNumberValue();
      case VALUE_TRUE -> true;
      case VALUE_FALSE -> false;
      case VALUE_NULL -> null;
      case null, default -> throw new JsonParseException(parser, "no value where one is due");
    };
  }

  private List<@Nullable Object> list(MessageShape of) throws IOException {
    var list = new ArrayList<@Nullable Object>();
    while (parser.nextToken() != JsonToken.END_ARRAY) {
      list.add(value(of));
    }
    return list;
  }
}
