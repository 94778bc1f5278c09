package io.dynamo.frontend.openai.wire;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.admission.JsonCost;
import io.dynamo.frontend.admission.RequestBody;
import io.dynamo.frontend.batches.MultipartReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Reads a form with an image to be edited, as OpenAI's SDKs send it, into the body that JSON
 * clients send: the image becomes a {@code data:} URL.
 */
public final class ImageForm {
  private static final Set<String> IMAGES = Set.of("image", "image[]", "input_reference");
  private static final Set<String> NUMBERS = Set.of("n", "output_compression", "partial_images");
  private static final Set<String> TREES = Set.of("nvext");
  private static final int PIECE = MultipartReader.BYTES / 4;
  private static final String REFERENCE = "input_reference";

  private ImageForm() {}

  /** Whether a body is a form. */
  public static boolean isForm(@Nullable String contentType) {
    return contentType != null
        && contentType.toLowerCase(Locale.ROOT).startsWith("multipart/form-data");
  }

  /**
   * Estimates the memory that a form takes once it is read.
   *
   * @throws ApiException with 400
   */
  public static JsonCost cost(@Nullable String contentType, RequestBody body) {
    var cost = JsonCost.ofForm(body.length());
    var piece = new byte[PIECE];
    try {
      var form = MultipartReader.open(contentType, body.stream());
      for (var part = form.next(); part != null; part = form.next()) {
        boolean tree = part.file() == null && TREES.contains(part.name());
        long bytes = 0;
        for (int count = form.read(piece); count >= 0; count = form.read(piece)) {
          bytes += count;
          if (tree) {
            cost.add(piece, count);
          }
        }
        cost.addMember(part.name().length() + (part.file() == null ? 2 * bytes : encoded(bytes)));
      }
    } catch (IOException e) {
      throw new ApiException(400, "the form cannot be read");
    }
    return cost;
  }

  /**
   * Reads a form.
   *
   * @throws ApiException with 400
   */
  public static JsonNode read(@Nullable String contentType, byte[] body) {
    var in = new ByteArrayInputStream(body);
    try {
      var form = MultipartReader.open(contentType, in);
      var fields = JsonNodeFactory.instance.objectNode();
      for (var part = form.next(); part != null; part = form.next()) {
        put(fields, part, form, in.available() + MultipartReader.BYTES);
      }
      return fields;
    } catch (IOException e) {
      throw new ApiException(400, "the form cannot be read");
    }
  }

  private static void copy(MultipartReader form, OutputStream to) throws IOException {
    var piece = new byte[PIECE];
    for (int count = form.read(piece); count >= 0; count = form.read(piece)) {
      to.write(piece, 0, count);
    }
  }

  /** The length of bytes in base64. */
  private static long encoded(long bytes) {
    return (bytes + 2) / 3 * 4;
  }

  /**
   * @param most bytes of the part at most
   */
  private static void put(
      ObjectNode fields, MultipartReader.Part part, MultipartReader form, int most)
      throws IOException {
    boolean image = IMAGES.contains(part.name());
    var name = image ? REFERENCE : part.name();
    if (fields.has(name)) {
      throw refused(
          part.name(),
          image
              ? "the form has several images; workers take one"
              : "the form has two parts `%s`".formatted(ApiError.shown(part.name())));
    }
    if (part.file() != null) {
      fields.put(name, dataUrl(part, form, most));
      return;
    }
    var content = new ByteArrayOutputStream();
    copy(form, content);
    var text = content.toString(StandardCharsets.UTF_8);
    if (NUMBERS.contains(name)) {
      fields.put(name, number(name, text));
    } else if (name.equals("stream")) {
      fields.put(name, flag(text));
    } else if (TREES.contains(name)) {
      fields.set(name, JsonBody.parse(content.toByteArray()));
    } else {
      fields.put(name, text);
    }
  }

  private static String dataUrl(MultipartReader.Part part, MultipartReader form, int most)
      throws IOException {
    var file = part.file() == null ? "" : part.file().toLowerCase(Locale.ROOT);
    var type =
        file.endsWith(".jpg") || file.endsWith(".jpeg")
            ? "jpeg"
            : file.endsWith(".webp") ? "webp" : "png";
    var head = ("data:image/" + type + ";base64,").getBytes(StandardCharsets.ISO_8859_1);
    var url = new ByteArrayOutputStream(Math.toIntExact(head.length + encoded(most)));
    url.write(head);
    try (var base64 = Base64.getEncoder().wrap(url)) {
      copy(form, base64);
    }
    return url.toString(StandardCharsets.ISO_8859_1);
  }

  private static int number(String name, String text) {
    try {
      return Integer.parseInt(text.strip());
    } catch (NumberFormatException e) {
      throw refused(name, "`%s` is no whole number".formatted(name));
    }
  }

  private static boolean flag(String text) {
    return switch (text.strip().toLowerCase(Locale.ROOT)) {
      case "true", "1" -> true;
      case "false", "0", "" -> false;
      default -> throw refused("stream", "`stream` must be true or false");
    };
  }

  private static ApiException refused(String name, String message) {
    return new ApiException(new ApiError(400, message, null, ApiError.shown(name), null));
  }
}
