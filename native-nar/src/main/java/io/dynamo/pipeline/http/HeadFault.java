package io.dynamo.pipeline.http;

import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A reason to refuse a request for its head alone: two servers in a row could disagree about where
 * it ends or which host it addresses. Its connection must be closed after the answer.
 *
 * @param status 400, 501 or 505
 * @param message what is wrong and what to do
 */
public record HeadFault(int status, String message) {
  private static final Pattern HOST =
      Pattern.compile("(\\[[0-9A-Fa-f:.]{2,45}]|[A-Za-z0-9._~!$&'()*+,;=%-]{1,255})(:[0-9]{0,5})?");
  private static final Pattern LENGTH = Pattern.compile("[0-9]{1,18}");

  /**
   * Returns the first fault in {@code head} for which RFC 9110 or 9112 demands a refusal; null for
   * none.
   */
  public static @Nullable HeadFault in(RequestHead head) {
    if (!head.version().equals("HTTP/1.1") && !head.version().equals("HTTP/1.0")) {
      return new HeadFault(505, "Only HTTP/1.1 and HTTP/1.0 are spoken here");
    }
    var control = control(head);
    if (control != null) {
      return control;
    }
    var host = host(head);
    return host == null ? length(head) : host;
  }

  private static @Nullable HeadFault control(RequestHead head) {
    for (var field : head.fields().entrySet()) {
      for (var value : field.getValue()) {
        for (int i = 0; i < value.length(); i++) {
          char c = value.charAt(i);
          if ((c < 0x20 && c != '\t') || c == 0x7f) {
            return bad(
                "The header %s has a control character (0x%02x); send its value without"
                    .formatted(field.getKey(), (int) c));
          }
        }
      }
    }
    return null;
  }

  private static @Nullable HeadFault host(RequestHead head) {
    var hosts = head.all("host");
    if (hosts.size() > 1) {
      return bad("%d Host headers; send one".formatted(hosts.size()));
    }
    if (hosts.isEmpty()) {
      return head.version().equals("HTTP/1.0") ? null : bad("No Host header; HTTP/1.1 wants one");
    }
    return HOST.matcher(hosts.getFirst()).matches()
        ? null
        : bad("The Host header is no name or address with an optional port");
  }

  /** Checks that the length of the body is unambiguous. */
  private static @Nullable HeadFault length(RequestHead head) {
    var lengths = head.all("content-length");
    var codings = head.all("transfer-encoding");
    if (!codings.isEmpty()) {
      if (!lengths.isEmpty()) {
        return bad("Content-Length beside Transfer-Encoding; send one of them");
      }
      if (head.version().equals("HTTP/1.0")) {
        return bad("Transfer-Encoding in HTTP/1.0, which has none; send Content-Length");
      }
      return coding(codings);
    }
    if (lengths.size() > 1) {
      return bad("%d Content-Length headers; send one".formatted(lengths.size()));
    }
    return lengths.isEmpty() || LENGTH.matcher(lengths.getFirst()).matches()
        ? null
        : bad("Content-Length is no number of at most 18 digits");
  }

  private static @Nullable HeadFault coding(List<String> codings) {
    var whole = String.join(",", codings).toLowerCase(Locale.ROOT);
    if (whole.equals("chunked")) {
      return null;
    }
    var names = whole.split(",", -1);
    return names[names.length - 1].strip().equals("chunked")
        ? new HeadFault(501, "The only Transfer-Encoding that is understood here is chunked, once")
        : bad("Transfer-Encoding does not end in chunked, so the body has no end");
  }

  private static HeadFault bad(String message) {
    return new HeadFault(400, message);
  }
}
