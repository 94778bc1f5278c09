/** Tests of media in prompts, hostile servers included. */
@NullMarked
package io.dynamo.frontend.media.pixels;

import org.jspecify.annotations.NullMarked;
