package io.dynamo.frontend.media.pixels;

/** An image file whose pixels cannot be decoded although it is of a known form. */
public final class DamagedImageException extends Exception {
  private static final long serialVersionUID = 1;

  DamagedImageException() {
    super("the image cannot be decoded; the file is damaged or cut", null, false, false);
  }
}
