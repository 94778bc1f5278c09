/** Tests of media in prompts, hostile servers included. */
@NullMarked
package io.dynamo.frontend.media;

import org.jspecify.annotations.NullMarked;
