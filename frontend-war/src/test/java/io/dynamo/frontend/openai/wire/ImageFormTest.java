package io.dynamo.frontend.openai.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.dynamo.concurrent.Deadline;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.admission.BodyBudget;
import io.dynamo.frontend.admission.JsonCost;
import io.dynamo.frontend.admission.RequestBody;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Forms with an image, as OpenAI's SDKs send them. */
class ImageFormTest {
  private static final String TYPE = "multipart/form-data; boundary=X";

  private static byte[] form(String... parts) {
    var form = new StringBuilder();
    for (var part : parts) {
      int end = part.indexOf('|');
      form.append("--X\r\nContent-Disposition: form-data; name=\"")
          .append(part, 0, end)
          .append("\"\r\n\r\n")
          .append(part.substring(end + 1))
          .append("\r\n");
    }
    return form.append("--X--\r\n").toString().getBytes(StandardCharsets.UTF_8);
  }

  private static Map<String, Object> read(byte[] form) {
    return TaskRequest.read(TaskRequest.Kind.IMAGE_EDITS, ImageForm.read(TYPE, form)).body();
  }

  @Test
  void partsBecomeTheFieldsOfTheBody() {
    var body =
        read(
            form(
                "image\"; filename=\"A.JPG|abc",
                "prompt|Grüße",
                "model|m",
                "n|2",
                "stream|false",
                "size|1024x1024",
                "nvext|{\"seed\":5}",
                "steps|3"));

    assertThat(body)
        .containsEntry("input_reference", "data:image/jpeg;base64,YWJj")
        .containsEntry("prompt", "Grüße")
        .containsEntry("n", 2)
        .containsEntry("stream", false)
        .containsEntry("nvext", Map.of("seed", 5L))
        .containsEntry("extra_args", Map.of("media_passthrough", Map.of("steps", "3")));
  }

  @Test
  void aMaskIsPassedOnAsItsAddress() {
    var body =
        read(form("image\"; filename=\"a|a", "mask\"; filename=\"m.webp|b", "prompt|p", "model|m"));

    assertThat(body)
        .containsEntry("input_reference", "data:image/png;base64,YQ==")
        .containsEntry(
            "extra_args",
            Map.of("media_passthrough", Map.of("mask", "data:image/webp;base64,Yg==")));
  }

  @ParameterizedTest
  @CsvSource({
    "image|a, image|b, several images",
    "image|a, image[]|b, several images",
    "prompt|a, prompt|b, two parts",
    "n|x, prompt|b, whole number",
    "n|99999999999, prompt|b, whole number",
    "stream|perhaps, prompt|b, true or false",
    "nvext|{, prompt|b, end-of-input",
    "nvext|[], image|b, missing field",
  })
  void otherFormsAreRefused(String one, String other, String reason) {
    var refusal = catchThrowableOfType(ApiException.class, () -> read(form(one, other)));

    assertThat(refusal.error().status()).isEqualTo(400);
    assertThat(Objects.requireNonNull(refusal.getMessage()) + refusal.error().message())
        .contains(reason);
  }

  @Test
  void aFormThatBreaksOffIsRefused() {
    var whole = form("image|abc", "prompt|p");
    for (int length = 0; length < whole.length - 4; length++) {
      var part = Arrays.copyOf(whole, length);
      assertThat(catchThrowableOfType(ApiException.class, () -> read(part)))
          .as("%d bytes", length)
          .isNotNull();
    }
  }

  private static JsonCost cost(byte[] form) {
    var budget = new BodyBudget(new BodyBudget.Limits(1 << 30, 1 << 30, 0));
    try (var share = budget.open()) {
      return ImageForm.cost(
          TYPE,
          RequestBody.read(
              new ByteArrayInputStream(form),
              form.length,
              new RequestBody.Bounds(form.length, "limit", Duration.ofMinutes(1)),
              Deadline.after(Duration.ofMinutes(1)),
              share));
    }
  }

  @Test
  void anImageCostsWhatItsAddressTakes() {
    var form = form("image\"; filename=\"a|" + "x".repeat(300_000), "prompt|p");
    var url =
        ImageForm.read(TYPE, form)
            .path("input_reference")
            .textValue()
            .getBytes(StandardCharsets.UTF_8);

    var cost = cost(form);

    assertThat(cost.keptBytes()).isBetween((long) url.length, url.length + 1000L);
    assertThat(cost.workBytes()).isGreaterThan(form.length + 2L * url.length);
  }

  @Test
  void textsAndTreesOfAFormCostWhatTheyBecome() {
    var text = cost(form("prompt|" + "x".repeat(100_000)));
    assertThat(text.keptBytes()).isGreaterThan(200_000);
    var tree = cost(form("nvext|[" + "{},".repeat(10_000) + "{}]"));
    assertThat(tree.keptBytes()).isGreaterThan(3_000_000);
    var quotes = cost(form("image\"; filename=\"a|\"" + "[".repeat(100_000)));
    assertThat(quotes.keptBytes()).isBetween(133_333L, 135_000L);
  }

  @Test
  void onlyFormsAreForms() {
    assertThat(ImageForm.isForm("Multipart/Form-Data; boundary=a")).isTrue();
    assertThat(ImageForm.isForm("application/json")).isFalse();
    assertThat(ImageForm.isForm(null)).isFalse();
  }
}
