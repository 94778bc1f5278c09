package io.dynamo.wire;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.util.ByteArrayBuilder;
import java.io.IOException;
import java.math.BigInteger;

/** Writes UTF-8 JSON by Jackson. Non-finite numbers become null, as Dynamo writes them. */
final class JsonWriter implements WireWriter {
  private final ByteArrayBuilder bytes = new ByteArrayBuilder();
  private final JsonGenerator json;

  JsonWriter() throws IOException {
    json = MessageJson.FACTORY.createGenerator(bytes);
  }

  @Override
  public void beginMap(int size) throws IOException {
    json.writeStartObject();
  }

  @Override
  public void endMap() throws IOException {
    json.writeEndObject();
  }

  @Override
  public void beginArray(int size) throws IOException {
    json.writeStartArray();
  }

  @Override
  public void endArray() throws IOException {
    json.writeEndArray();
  }

  @Override
  public void key(String name) throws IOException {
    json.writeFieldName(name);
  }

  @Override
  public void string(String value) throws IOException {
    json.writeString(value);
  }

  @Override
  public void integer(long value) throws IOException {
    json.writeNumber(value);
  }

  @Override
  public void integer(BigInteger value) throws IOException {
    json.writeNumber(value);
  }

  @Override
  public void unsigned(long value) throws IOException {
    if (value >= 0) {
      json.writeNumber(value);
    } else {
      json.writeNumber(new BigInteger(Long.toUnsignedString(value)));
    }
  }

  @Override
  public void float32(float value) throws IOException {
    if (Float.isFinite(value)) {
      json.writeNumber(value);
    } else {
      json.writeNull();
    }
  }

  @Override
  public void float64(double value) throws IOException {
    if (Double.isFinite(value)) {
      json.writeNumber(value);
    } else {
      json.writeNull();
    }
  }

  @Override
  public void bool(boolean value) throws IOException {
    json.writeBoolean(value);
  }

  @Override
  public void binary(byte[] value) throws IOException {
    json.writeStartArray();
    for (byte each : value) {
      json.writeNumber(each & 0xff);
    }
    json.writeEndArray();
  }

  @Override
  public void nil() throws IOException {
    json.writeNull();
  }

  @Override
  public byte[] finish() throws IOException {
    json.close();
    return bytes.toByteArray();
  }
}
