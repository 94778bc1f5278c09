package io.dynamo.frontend.media;

import java.util.Locale;

/** A kind of media in prompts. */
public enum MediaKind {
  IMAGE,
  VIDEO,
  AUDIO;

  /** The type of a message's part, which is also the kind's name in requests to workers. */
  public String partType() {
    return cardName() + "_url";
  }

  /** The kind's name in a card's decoders, and the first half of its media types. */
  public String cardName() {
    return name().toLowerCase(Locale.ROOT);
  }
}
