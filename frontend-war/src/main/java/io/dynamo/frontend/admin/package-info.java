/** What operators may change while requests come. */
@NullMarked
package io.dynamo.frontend.admin;

import org.jspecify.annotations.NullMarked;
