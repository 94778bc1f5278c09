package io.dynamo.frontend.postprocess.structure;

/**
 * The calls that a request wants in an answer.
 *
 * @param forced whether there must be one
 * @param named whether the request names the one function
 * @param single whether there must not be more than one
 */
record CallDemand(boolean forced, boolean named, boolean single) {}
