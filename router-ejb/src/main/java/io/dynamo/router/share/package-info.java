/**
 * Indexes that routers share: one follows the workers' events and answers, others ask it for each
 * prompt. Start at {@link io.dynamo.router.share.IndexPlane}. Knows nothing of load and choice.
 */
@NullMarked
package io.dynamo.router.share;

import org.jspecify.annotations.NullMarked;
