package io.dynamo.wire.generate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.error.InvalidRequestException;
import io.dynamo.inference.tensor.Tensor;
import io.dynamo.inference.tensor.TensorBytes;
import io.dynamo.inference.tensor.TensorData;
import io.dynamo.inference.tensor.TensorRequest;
import io.dynamo.inference.tensor.TensorResponse;
import io.dynamo.inference.tensor.TensorType;
import io.dynamo.inference.tensor.WantedOutput;
import io.dynamo.net.PayloadFormat;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Requests and answers of workers that take tensors, in both payload formats, and nonsense. */
class TensorCodecTest {
  private static final PayloadFormat MSGPACK = PayloadFormat.MSGPACK;

  private final TensorCodec codec = new TensorCodec();

  private static Tensor tensor(String name, TensorType type, long... values) {
    var bytes = new TensorBytes(type);
    for (long value : values) {
      bytes.add(value);
    }
    return new Tensor(name, List.of((long) values.length), Map.of(), bytes.data());
  }

  private static List<Tensor> everyType() {
    var strings = new TensorBytes(TensorType.BYTES);
    strings.add(new byte[] {'a', -1});
    strings.add(new byte[0]);
    return List.of(
        tensor("bool", TensorType.BOOL, 1, 0),
        tensor("i8", TensorType.INT8, -128, 127),
        tensor("i16", TensorType.INT16, -32768),
        tensor("i32", TensorType.INT32, Integer.MIN_VALUE),
        tensor("i64", TensorType.INT64, Long.MIN_VALUE, Long.MAX_VALUE),
        tensor("u8", TensorType.UINT8, 255),
        tensor("u16", TensorType.UINT16, 65535),
        tensor("u32", TensorType.UINT32, 0xFFFF_FFFFL),
        tensor("u64", TensorType.UINT64, -1),
        tensor("half", TensorType.FP16, 0xFC00),
        tensor("brain", TensorType.BF16, 0x3F80),
        tensor("f32", TensorType.FP32, Float.floatToRawIntBits(1.5f)),
        tensor("f64", TensorType.FP64, Double.doubleToRawLongBits(-0.1)),
        new Tensor("s", List.of(2L), Map.of("p", "v"), strings.data()),
        tensor("none", TensorType.INT32));
  }

  @ParameterizedTest
  @EnumSource(PayloadFormat.class)
  void requestsComeBackAsTheyWere(PayloadFormat format) {
    var parameters =
        Map.<String, Object>of(
            "b", true, "i", -3L, "d", 1.5, "s", "x", "u", new BigInteger("18446744073709551615"));
    var request =
        new TensorRequest(
            "id",
            "m",
            everyType(),
            List.of(new WantedOutput("y", Map.of("k", 2L)), new WantedOutput("z", Map.of())),
            parameters);

    var read = codec.decodeRequest(ByteBuffer.wrap(codec.encodeRequest(request, format)), format);

    assertThat(read).isEqualTo(request);
  }

  @ParameterizedTest
  @EnumSource(PayloadFormat.class)
  void answersComeBackAsTheyWere(PayloadFormat format) {
    var answer = new TensorResponse(null, "m", everyType(), Map.of("n", 0L));

    assertThat(codec.decodeItem(ByteBuffer.wrap(codec.encodeItem(answer, format)), format))
        .isEqualTo(answer);
  }

  @Test
  void numbersThatAreNoneInJsonTravelInMessagePack() {
    var answer =
        new TensorResponse(
            null,
            "m",
            List.of(tensor("f", TensorType.FP32, Float.floatToRawIntBits(Float.NaN))),
            Map.of());
    var format = PayloadFormat.MSGPACK;

    assertThat(codec.decodeItem(ByteBuffer.wrap(codec.encodeItem(answer, format)), format))
        .isEqualTo(answer);
  }

  private TensorResponse read(String json) {
    return codec.decodeItem(
        ByteBuffer.wrap(json.replace('\'', '"').getBytes(StandardCharsets.UTF_8)),
        PayloadFormat.JSON);
  }

  @Test
  void valuesMayComeBeforeTheirTypeAndUnknownMembersAnywhere() {
    var read =
        read(
            "{'x':[1],'tensors':[{'data':{'values':[1,2],'data_type':'Int16'},'y':{},"
                + "'metadata':{'shape':[2],'z':null,'data_type':'Int16','name':'a'}}]}");

    assertThat(read.tensors()).containsExactly(tensor("a", TensorType.INT16, 1, 2));
  }

  @Test
  void elementsOfBytesMayBeTexts() {
    var read =
        read(
            "{'tensors':[{'metadata':{'name':'a','data_type':'Bytes','shape':[2]},"
                + "'data':{'data_type':'Bytes','values':['ü',[0,255]]}}]}");

    var strings = (TensorData.Strings) read.tensors().getFirst().data();
    assertThat(strings.text(0)).isEqualTo("ü");
    assertThat(strings.count()).isEqualTo(2);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      value = {
        "[] | not readable",
        "{} | tensors is missing",
        "{'tensors':[{}]} | metadata of a tensor is missing",
        "{'tensors':[{'metadata':{'name':'a','data_type':'Int8','shape':[]}}]} | data of a tensor",
        "{'tensors':[{'metadata':{'data_type':'Int8'}}]} | name of a tensor is missing",
        "{'tensors':[{'metadata':{'name':'a','data_type':'Int128'}}]} | no data_type of that name",
        "{'tensors':[{'data':{'values':[1]}}]} | no values, or no data_type",
        "{'tensors':[{'data':{'data_type':'Int8','values':[300]}}]} | 300 is no value of INT8",
        "{'tensors':[{'data':{'data_type':'Uint64','values':[-1]}}]} | -1",
        "{'tensors':[{'data':{'data_type':'Bytes','values':[[256]]}}]} | 256 is no byte",
        "{'tensors':[{'data':{'data_type':'Float32','values':['x']}}]} | not readable",
        "{'tensors':[{'metadata':{'name':'a','data_type':'Int8','shape':[1]},'data':{'data_type':'Int16','values':[1]}}]}"
            + " | of type INT8, and its data of type INT16",
        "{'tensors':[],'parameters':[]} | parameters are no map",
        "{'tensors':[],'parameters':{'a':1}} | a parameter is no map",
        "{'tensors':[],'parameters':{'a':{'int64':1.5}}} | a parameter is no map",
        "{'tensors':[],'parameters':{'a':{'uint64':-1}}} | a parameter is no map",
        "{'tensors':[],'parameters':{'a':{'bool':true,'int64':1}}} | a parameter is no map",
      })
  void nonsenseOfAWorkerIsRefused(String json, String words) {
    assertThatThrownBy(() -> read(json))
        .isInstanceOf(InvalidRequestException.class)
        .hasMessageContaining(words);
  }

  @Test
  void listsAreBounded() {
    var one =
        "{'metadata':{'name':'a','data_type':'Int8','shape':[0]},'data':{'data_type':'Int8','values':[]}}";
    assertThatThrownBy(() -> read("{'tensors':[" + (one + ",").repeat(1024) + one + "]}"))
        .hasMessageContaining("more than 1024 tensors");
    assertThatThrownBy(
            () -> read("{'tensors':[{'metadata':{'shape':[" + "1,".repeat(64) + "1]}}]}"))
        .hasMessageContaining("more than 64 dimensions");
  }

  @Test
  void anAnnouncedLengthIsNotAllocated() {
    var empty = codec.encodeItem(new TensorResponse(null, "m", List.of(), Map.of()), MSGPACK);
    var broken = Arrays.copyOf(empty, empty.length + 4);
    broken[empty.length - 1] = (byte) 0xDD; // an array with its length in four bytes
    broken[empty.length] = 0x7F;

    assertThatThrownBy(() -> codec.decodeItem(ByteBuffer.wrap(broken), MSGPACK))
        .isInstanceOf(InvalidRequestException.class);
  }
}
