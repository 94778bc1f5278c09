package io.dynamo.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.error.InvalidRequestException;
import io.dynamo.net.PayloadFormat;
import io.dynamo.testing.Allocation;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.msgpack.core.MessagePack;
import org.msgpack.core.MessagePacker;

/** Reader and writer against the format's own library. */
class MsgpackFormTest {
  private static final long[] EDGES = {
    0,
    127,
    128,
    255,
    256,
    65_535,
    65_536,
    0xffff_ffffL,
    0x1_0000_0000L,
    Long.MAX_VALUE,
    -1,
    -32,
    -33,
    -128,
    -129,
    -32_768,
    -32_769,
    Integer.MIN_VALUE,
    Integer.MIN_VALUE - 1L,
    Long.MIN_VALUE
  };
  private static final int[] SIZES = {0, 1, 15, 16, 31, 32, 255, 256, 65_535, 65_536};

  private static List<@Nullable Object> values() {
    List<@Nullable Object> all = new ArrayList<>();
    for (long edge : EDGES) {
      all.add(edge);
    }
    for (int size : SIZES) {
      all.add("x".repeat(size));
      all.add("é".repeat(size / 2));
      all.add(new ArrayList<@Nullable Object>(Collections.nCopies(size, true)));
      Map<String, @Nullable Object> map = new LinkedHashMap<>();
      for (int i = 0; i < size; i++) {
        map.put("k" + i, null);
      }
      all.add(map);
    }
    all.add(BigInteger.ONE.shiftLeft(64).subtract(BigInteger.ONE));
    all.add(1.5f);
    all.add(-0.1);
    all.add(false);
    all.add(null);
    return all;
  }

  private static void pack(MessagePacker to, @Nullable Object value) throws IOException {
    switch (value) {
      case null -> to.packNil();
      case String text -> to.packString(text);
      case Boolean flag -> to.packBoolean(flag);
      case Float number -> to.packFloat(number);
      case Double number -> to.packDouble(number);
      case BigInteger number -> to.packBigInteger(number);
      case Number number -> to.packLong(number.longValue());
      case List<?> list -> {
        to.packArrayHeader(list.size());
        for (var each : list) {
          pack(to, each);
        }
      }
      case Map<?, ?> map -> {
        to.packMapHeader(map.size());
        for (var entry : map.entrySet()) {
          pack(to, entry.getKey());
          pack(to, entry.getValue());
        }
      }
      default -> throw new AssertionError(value.getClass());
    }
  }

  private static byte[] packed(@Nullable Object value) throws IOException {
    try (var packer = MessagePack.newDefaultBufferPacker()) {
      pack(packer, value);
      return packer.toByteArray();
    }
  }

  @Test
  void everyValueIsWrittenAsTheLibraryWritesIt() throws IOException {
    for (var value : values()) {
      var out = new MsgpackWriter(16);
      out.any(value);
      assertThat(out.finish()).as("%.40s", value).isEqualTo(packed(value));
    }
  }

  @Test
  void everyValueIsReadBackAndPassedOver() throws IOException {
    for (var value : values()) {
      byte[] bytes = packed(value);
      var in = new MsgpackReader(ByteBuffer.wrap(bytes));
      assertThat(in.any()).as("%.40s", value).isEqualTo(value);
      in.end();
      var passing = new MsgpackReader(ByteBuffer.wrap(bytes));
      passing.skip();
      passing.end();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 255, 256, 65_536})
  void bytesAreWrittenReadAndPassedOver(int size) throws IOException {
    var bytes = new byte[size];
    new Random(size).nextBytes(bytes);
    var out = new MsgpackWriter(16);
    out.binary(bytes);
    try (var packer = MessagePack.newDefaultBufferPacker()) {
      packer.packBinaryHeader(size);
      packer.writePayload(bytes);
      assertThat(out.finish()).isEqualTo(packer.toByteArray());
    }
    var in = new MsgpackReader(ByteBuffer.wrap(out.finish()));
    assertThat(in.any()).isEqualTo(bytes);
    in.end();
  }

  @Test
  void extensionsArePassedOver() throws IOException {
    for (int size : new int[] {0, 1, 2, 4, 8, 16, 17, 300, 70_000}) {
      try (var packer = MessagePack.newDefaultBufferPacker()) {
        packer.packExtensionTypeHeader((byte) 5, size);
        packer.writePayload(new byte[size]);
        var in = new MsgpackReader(ByteBuffer.wrap(packer.toByteArray()));
        in.skip();
        in.end();
      }
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void noiseIsReadOrRefused(long seed) {
    var random = new Random(seed);
    for (int i = 0; i < 5_000; i++) {
      var noise = new byte[1 + random.nextInt(40)];
      random.nextBytes(noise);
      for (WireReader.Shape<Object> shape : shapes()) {
        try {
          assertThat(WireReader.read("noise", ByteBuffer.wrap(noise), PayloadFormat.MSGPACK, shape))
              .isNotNull();
        } catch (InvalidRequestException expected) {
          assertThat(expected).hasMessageContaining("noise");
        }
      }
    }
  }

  private static List<WireReader.Shape<Object>> shapes() {
    return List.of(
        in -> String.valueOf(in.any()),
        in -> {
          in.skip();
          return in;
        });
  }

  @Test
  void nestingBeyondTheBoundIsRefused() {
    var deep = new byte[1_000];
    Arrays.fill(deep, (byte) 0x91);
    assertThatThrownBy(() -> new MsgpackReader(ByteBuffer.wrap(deep)).any())
        .isInstanceOf(IOException.class)
        .hasMessageContaining("nested deeper");
    assertThatThrownBy(() -> new MsgpackReader(ByteBuffer.wrap(deep)).skip())
        .isInstanceOf(IOException.class)
        .hasMessageContaining("do not fit");
  }

  /** Each array says that the rest of the message is its elements, and is the first of them. */
  @Test
  void announcedArrayLengthsAllocateNoMemory() {
    var bytes = new byte[1 << 20];
    Arrays.fill(bytes, (byte) 0xc1); // never used: ends the reading
    var out = ByteBuffer.wrap(bytes);
    for (int i = 0; i < 60; i++) {
      out.put((byte) 0xdd).putInt(bytes.length - 1_000);
    }
    var in = new MsgpackReader(ByteBuffer.wrap(bytes));
    assertThat(Allocation.bytes(() -> assertThatThrownBy(in::any).isInstanceOf(IOException.class)))
        .isLessThan(8L * bytes.length);
  }
}
