@NullMarked
package io.dynamo.frontend.postprocess.message;

import org.jspecify.annotations.NullMarked;
