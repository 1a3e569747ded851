// Tells the kind of the current field of a protobuf reader. Private to this stage.
#pragma once

#include <protozero/pbf_reader.hpp>

namespace dsbuild {

// Bytes, a string or a message.
inline bool is_bytes(const protozero::pbf_reader& reader, protozero::pbf_tag_type tag) {
  return reader.tag_and_type() == tag_and_type(tag, protozero::pbf_wire_type::length_delimited);
}
inline bool is_number(const protozero::pbf_reader& reader, protozero::pbf_tag_type tag) {
  return reader.tag_and_type() == tag_and_type(tag, protozero::pbf_wire_type::varint);
}

}  // namespace dsbuild
