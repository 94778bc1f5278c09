/**
 * KServe's inference protocol, version 2, apart from any transport: requests and answers as
 * tensors, their protobuf messages, and the descriptions of models. Start at {@link
 * io.dynamo.frontend.kserve.InferRequest}.
 */
@NullMarked
package io.dynamo.frontend.kserve;

import org.jspecify.annotations.NullMarked;
