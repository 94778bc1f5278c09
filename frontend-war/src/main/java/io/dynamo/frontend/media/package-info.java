/**
 * Media of prompts: images, videos and sounds that clients name by URL or send in data URLs. Start
 * at {@link io.dynamo.frontend.media.MediaIntake}, which prepares those of one request: it fetches
 * what the model's card or the operator asks for, and computes the prompt by which routers tell
 * requests with other images apart. {@link io.dynamo.frontend.media.MediaFetcher} is the only part
 * that connects anywhere, to public addresses alone unless the operator says otherwise. Images are
 * decoded in {@link io.dynamo.frontend.media.pixels}. Knows nothing of the APIs that the media came
 * by.
 */
@NullMarked
package io.dynamo.frontend.media;

import org.jspecify.annotations.NullMarked;
