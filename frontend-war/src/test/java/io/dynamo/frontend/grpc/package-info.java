@NullMarked
package io.dynamo.frontend.grpc;

import org.jspecify.annotations.NullMarked;
