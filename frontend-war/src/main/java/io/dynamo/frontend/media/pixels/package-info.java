/**
 * Decoded images in memory that workers read over NIXL: start at {@link
 * io.dynamo.frontend.media.pixels.PixelDecoders}. Files are decoded by the JDK within bounds of
 * time and memory ({@link io.dynamo.frontend.media.pixels.ImageFile}), into slots of one registered
 * {@link io.dynamo.frontend.media.pixels.PixelPool}. What does not fit is left to the worker.
 */
@NullMarked
package io.dynamo.frontend.media.pixels;

import org.jspecify.annotations.NullMarked;
