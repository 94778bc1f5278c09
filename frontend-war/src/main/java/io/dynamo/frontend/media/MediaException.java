package io.dynamo.frontend.media;

import java.util.Locale;

/** A medium cannot be had. Its message says why as far as a client may know. */
final class MediaException extends Exception {
  private static final long serialVersionUID = 1;

  /** Why, for metrics. */
  enum Reason {
    /** The URL is not one that this server fetches. */
    NOT_ALLOWED,
    /**
     * Nothing was fetched: no such host, an address that is not public, no connection, no time, an
     * answer other than 200. Clients cannot tell which, or they could explore this network.
     */
    UNAVAILABLE,
    /** Too many others are fetched now. */
    OVERLOADED,
    TOO_LARGE,
    /** The bytes are not what the part says. */
    WRONG_TYPE;

    String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  private final Reason reason;

  MediaException(Reason reason, String message) {
    super(message, null, false, false);
    this.reason = reason;
  }

  static MediaException unavailable() {
    return new MediaException(
        Reason.UNAVAILABLE,
        "the URL could not be fetched within the bounds of dynamo.frontend.media; it must name a"
            + " file on a public host that answers 200");
  }

  static MediaException overloaded() {
    return new MediaException(
        Reason.OVERLOADED,
        "too many media are fetched at once, by dynamo.frontend.media.max-fetches; retry shortly");
  }

  static MediaException tooLarge(long maxBytes) {
    return new MediaException(
        Reason.TOO_LARGE,
        "the medium is larger than the %d bytes of dynamo.frontend.media.max-bytes; send a smaller one"
            .formatted(maxBytes));
  }

  Reason reason() {
    return reason;
  }
}
