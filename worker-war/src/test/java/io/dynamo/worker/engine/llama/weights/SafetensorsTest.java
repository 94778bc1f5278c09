package io.dynamo.worker.engine.llama.weights;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SafetensorsTest {
  @TempDir Path folder;

  private Path file(String header, byte... data) throws IOException {
    var text = header.getBytes(StandardCharsets.UTF_8);
    return file(text.length, text, data);
  }

  private Path file(long length, byte[] header, byte[] data) throws IOException {
    var bytes = ByteBuffer.allocate(8 + header.length + data.length).order(ByteOrder.LITTLE_ENDIAN);
    bytes.putLong(length).put(header).put(data);
    return Files.write(folder.resolve("model.safetensors"), bytes.array());
  }

  private static String tensor(String type, String shape, int begin, int end) {
    return "{\"__metadata__\":{\"format\":\"pt\"},\"t\":{\"dtype\":\"%s\",\"shape\":%s,\"data_offsets\":[%d,%d]}}"
        .formatted(type, shape, begin, end);
  }

  private static byte[] bytes(int... values) {
    var bytes = new byte[values.length];
    for (int i = 0; i < values.length; i++) {
      bytes[i] = (byte) values[i];
    }
    return bytes;
  }

  @Test
  void halfPrecisionIsRead() throws Exception {
    // 1.0, -2.0, 65504 (the largest), 2^-24 (the smallest)
    var data = bytes(0x00, 0x3C, 0x00, 0xC0, 0xFF, 0x7B, 0x01, 0x00);
    try (var tensors = Safetensors.open(file(tensor("F16", "[2,2]", 0, 8), data))) {
      assertThat(tensors.read("t", 2, 2)).containsExactly(1f, -2f, 65504f, 0x1p-24f);
      assertThat(tensors.has("t")).isTrue();
      assertThat(tensors.has("__metadata__")).isFalse();
    }
  }

  @Test
  void brainFloatsAndSinglesAreRead() throws Exception {
    try (var tensors =
        Safetensors.open(file(tensor("BF16", "[2]", 0, 4), bytes(0x80, 0x3F, 0x00, 0xC0)))) {
      assertThat(tensors.read("t", 2)).containsExactly(1f, -2f);
    }
    try (var tensors =
        Safetensors.open(file(tensor("F32", "[1]", 0, 4), bytes(0x00, 0x00, 0x20, 0x41)))) {
      assertThat(tensors.read("t", 1)).containsExactly(10f);
    }
  }

  @Test
  void absentTensorAndOtherShapeAreTold() throws Exception {
    try (var tensors = Safetensors.open(file(tensor("F32", "[1]", 0, 4), new byte[4]))) {
      assertThatThrownBy(() -> tensors.read("u", 1)).hasMessageContaining("no tensor u");
      assertThatThrownBy(() -> tensors.read("t", 1, 1))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("[1]")
          .hasMessageContaining("[1, 1]");
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {-1, 0, 1, 1L << 40, Long.MAX_VALUE, 100})
  void headerLengthBeyondTheFileIsRefusedBeforeItIsAllocated(long length) throws Exception {
    var path = file(length, "{}".getBytes(StandardCharsets.UTF_8), new byte[0]);
    assertThatThrownBy(() -> Safetensors.open(path))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(Long.toUnsignedString(length));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"t\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}",
        "{\"t\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,0]}}",
        "{\"t\":{\"dtype\":\"F32\",\"shape\":[-1],\"data_offsets\":[0,4]}}",
        "{\"t\":{\"dtype\":\"F32\",\"shape\":[4294967296,4294967296],\"data_offsets\":[0,4]}}",
        "{\"t\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,4]}}",
        "{\"t\":{\"dtype\":\"I8\",\"shape\":[4],\"data_offsets\":[0,4]}}",
        "{\"t\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0]}}",
        "{\"t\":7}",
        "[]",
        "{"
      })
  void brokenHeadersAreRefused(String header) throws Exception {
    var path = file(header, new byte[4]);
    assertThatThrownBy(() -> Safetensors.open(path)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void emptyFileIsRefused() throws Exception {
    var path = Files.write(folder.resolve("empty"), new byte[3]);
    assertThatThrownBy(() -> Safetensors.open(path)).hasMessageContaining("3 bytes");
  }
}
