package io.dynamo.frontend.media;

import io.dynamo.config.frontend.MediaSettings;
import io.dynamo.model.CardMedia;
import io.dynamo.token.MediaHasher;
import org.jspecify.annotations.Nullable;

/** Checks that bytes are media of a kind, within the limits of operator and card. */
record MediaCheck(MediaKind kind, MediaSettings settings, CardMedia card) {
  private static final int CHANNELS = 3; // bytes of a decoded pixel, at least

  /**
   * Media that passed.
   *
   * @param type by the bytes of an image, else as its source says
   * @param header of an image
   */
  record Checked(String type, @Nullable ImageHeader header) {
    @Nullable MeasuredImage measured(byte[] content) {
      return header == null
          ? null
          : new MeasuredImage(MediaHasher.of(content), header.width(), header.height());
    }
  }

  /**
   * Checks media.
   *
   * @param type as their source says; empty when it does not
   */
  Checked of(byte[] content, String type) throws MediaException {
    if (content.length == 0) {
      throw wrong("the medium is empty");
    }
    if (kind == MediaKind.IMAGE) {
      var header = ImageHeader.of(content);
      if (header == null) {
        throw wrong("the medium is no PNG, JPEG, GIF, BMP or WebP with a readable size");
      }
      checkSize(header);
      return new Checked(header.type(), header);
    }
    boolean isOfKind = type.startsWith(kind.cardName() + "/") || type.equals("application/ogg");
    if (!isOfKind || !DataUrl.isType(type)) {
      throw wrong(
          "the medium is of a type other than %s/* by its source".formatted(kind.cardName()));
    }
    return new Checked(type, null);
  }

  private void checkSize(ImageHeader header) throws MediaException {
    long pixels = header.pixels();
    if (pixels > settings.maxPixels()) {
      throw tooMany(
          header,
          "has more than the %d pixels of dynamo.frontend.media.max-pixels",
          settings.maxPixels());
    }
    var bytes = card.limit(kind.cardName(), "max_alloc");
    if (bytes != null && pixels * CHANNELS > bytes) {
      throw tooMany(header, "takes more than the %d bytes that the model's card allows", bytes);
    }
    var width = card.limit(kind.cardName(), "max_image_width");
    if (width != null && header.width() > width) {
      throw tooMany(header, "is wider than the %d pixels that the model's card allows", width);
    }
    var height = card.limit(kind.cardName(), "max_image_height");
    if (height != null && header.height() > height) {
      throw tooMany(header, "is higher than the %d pixels that the model's card allows", height);
    }
  }

  private static MediaException tooMany(ImageHeader header, String fault, long bound) {
    return new MediaException(
        MediaException.Reason.TOO_LARGE,
        "the image (%s) %s; send a smaller one".formatted(header, fault.formatted(bound)));
  }

  private static MediaException wrong(String message) {
    return new MediaException(MediaException.Reason.WRONG_TYPE, message);
  }
}
