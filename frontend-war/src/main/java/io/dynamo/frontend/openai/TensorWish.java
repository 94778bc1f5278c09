package io.dynamo.frontend.openai;

import io.dynamo.frontend.kserve.InferRequest;
import io.dynamo.frontend.openai.wire.KserveForm;

/**
 * The tensors that a client asks for.
 *
 * @param form of the answer
 * @param request that was checked, its elements not yet read
 */
record TensorWish(KserveForm form, InferRequest request) {}
