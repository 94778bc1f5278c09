package io.dynamo.wire;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads UTF-8 JSON by Jackson's pull parser, whose current token is the next value. */
final class JsonReader implements WireReader {
  private final JsonParser json;

  JsonReader(ByteBuffer body) throws IOException {
    if (body.hasArray()) {
      json =
          MessageJson.FACTORY.createParser(
              body.array(), body.arrayOffset() + body.position(), body.remaining());
    } else {
      var bytes = new byte[body.remaining()];
      body.duplicate().get(bytes);
      json = MessageJson.FACTORY.createParser(bytes);
    }
    json.nextToken();
  }

  @Override
  public boolean isNil() {
    return json.currentToken() == JsonToken.VALUE_NULL;
  }

  @Override
  public boolean isMap() {
    return json.currentToken() == JsonToken.START_OBJECT;
  }

  @Override
  public void beginMap() throws IOException {
    need(JsonToken.START_OBJECT);
  }

  @Override
  public int nextKey(Keys keys) throws IOException {
    var name = json.nextFieldName();
    if (name == null) {
      need(JsonToken.END_OBJECT);
      return Keys.END;
    }
    json.nextToken();
    return keys.indexOf(name);
  }

  @Override
  public void beginArray() throws IOException {
    need(JsonToken.START_ARRAY);
  }

  @Override
  public boolean nextElement() throws IOException {
    return json.nextToken() != JsonToken.END_ARRAY;
  }

  @Override
  public int[] ints() throws IOException {
    need(JsonToken.START_ARRAY);
    var values = new int[16];
    int count = 0;
    while (json.nextToken() != JsonToken.END_ARRAY) {
      if (count == values.length) {
        values = Arrays.copyOf(values, count * 2);
      }
      values[count++] = smallInteger();
    }
    return Arrays.copyOf(values, count);
  }

  @Override
  public byte[] bytes() throws IOException {
    if (json.currentToken() == JsonToken.VALUE_STRING) {
      return json.getText().getBytes(StandardCharsets.UTF_8);
    }
    need(JsonToken.START_ARRAY);
    var values = new ByteArrayOutputStream();
    while (json.nextToken() != JsonToken.END_ARRAY) {
      values.write(octet());
    }
    return values.toByteArray();
  }

  @Override
  public List<String> strings() throws IOException {
    need(JsonToken.START_ARRAY);
    List<String> values = new ArrayList<>();
    while (json.nextToken() != JsonToken.END_ARRAY) {
      values.add(string());
    }
    return values;
  }

  @Override
  public String string() throws IOException {
    need(JsonToken.VALUE_STRING);
    return json.getText();
  }

  @Override
  public int word(Keys words) throws IOException {
    return words.indexOf(string());
  }

  @Override
  public long integer() throws IOException {
    need(JsonToken.VALUE_NUMBER_INT);
    return json.getLongValue();
  }

  @Override
  public long unsigned() throws IOException {
    need(JsonToken.VALUE_NUMBER_INT);
    var value = json.getBigIntegerValue();
    if (value.signum() < 0 || value.bitLength() > Long.SIZE) {
      throw new IOException("the number " + value + " is no unsigned integer of 64 bits");
    }
    return value.longValue();
  }

  @Override
  public double number() throws IOException {
    if (json.currentToken() == null || !json.currentToken().isNumeric()) {
      throw unexpected("a number");
    }
    return json.getDoubleValue();
  }

  @Override
  public boolean bool() throws IOException {
    return json.getBooleanValue();
  }

  @Override
  public @Nullable Object any() throws IOException {
    var token = json.currentToken();
    if (token == null) {
      throw unexpected("a value");
    }
    return switch (token) {
      case VALUE_NULL -> null;
      case VALUE_STRING -> json.getText();
      case VALUE_TRUE -> true;
      case VALUE_FALSE -> false;
      case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> json.getNumberValue();
      case START_OBJECT -> map();
      case START_ARRAY -> list();
      default -> throw unexpected("a value");
    };
  }

  private Map<String, @Nullable Object> map() throws IOException {
    Map<String, @Nullable Object> values = new LinkedHashMap<>();
    for (var name = json.nextFieldName(); name != null; name = json.nextFieldName()) {
      json.nextToken();
      values.put(name, any());
    }
    need(JsonToken.END_OBJECT);
    return values;
  }

  private List<@Nullable Object> list() throws IOException {
    List<@Nullable Object> values = new ArrayList<>();
    while (json.nextToken() != JsonToken.END_ARRAY) {
      values.add(any());
    }
    return values;
  }

  @Override
  public void skip() throws IOException {
    json.skipChildren();
  }

  @Override
  public int position() {
    return Math.toIntExact(json.currentTokenLocation().getByteOffset());
  }

  @Override
  public int endOfSkipped() throws IOException {
    json.finishToken();
    return Math.toIntExact(json.currentLocation().getByteOffset());
  }

  @Override
  public void end() throws IOException {
    if (json.nextToken() != null) {
      throw unexpected("the end");
    }
  }

  private void need(JsonToken token) throws IOException {
    if (json.currentToken() != token) {
      throw unexpected(token.toString());
    }
  }

  private IOException unexpected(String wanted) {
    return new IOException(
        "expected %s at byte %d, found %s"
            .formatted(wanted, json.currentTokenLocation().getByteOffset(), json.currentToken()));
  }
}
