//! Events as JSON objects whose first key names the event, read without collecting the object first.
//!
//! Serde's `tag` writes the same bytes. But a tag may come last, so serde collects every object before it reads it, and
//! a run reads a journal of thousands of messages for each request. In a journal that aiwf wrote the tag comes first; an
//! object with the tag elsewhere is collected as serde does.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::{MapAccessDeserializer, MapDeserializer};
use serde::de::{self, DeserializeSeed, Deserializer, EnumAccess, MapAccess, VariantAccess, Visitor};
use serde::ser::{self, Impossible, SerializeStruct, SerializeStructVariant, Serializer};
use serde_json::Value;

/// An enum whose variants have named fields, with serde's default representation; the functions below add the tag.
pub(crate) trait Tagged: Sized {
    /// The key that names the variant.
    const TAG: &'static str;

    fn read_variant<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error>;

    fn write_variant<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error>;
}

pub(crate) fn serialize<T: Tagged, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    value.write_variant(Writer { tag: T::TAG, serializer })
}

pub(crate) fn deserialize<'de, T: Tagged, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    deserializer.deserialize_map(ObjectVisitor(PhantomData))
}

struct ObjectVisitor<T>(PhantomData<T>);

impl<'de, T: Tagged> Visitor<'de> for ObjectVisitor<T> {
    type Value = T;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "an object with the key `{}`", T::TAG)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
        match map.next_key_seed(KeySeed(T::TAG))? {
            Some(None) => T::read_variant(Object(map)),
            Some(Some(first)) => {
                let mut entries = vec![(first, map.next_value::<Value>()?)];
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                let of_tag = entries.iter().position(|(key, _)| key == T::TAG);
                let of_tag = of_tag.ok_or_else(|| de::Error::missing_field(T::TAG))?;
                entries.swap(0, of_tag);
                let mut collected = MapDeserializer::new(entries.into_iter());
                // The tag comes first now.
                let _tag: Option<Option<String>> =
                    collected.next_key_seed(KeySeed(T::TAG)).map_err(de::Error::custom)?;
                T::read_variant(Object::<MapDeserializer<'_, _, serde_json::Error>>(collected))
                    .map_err(de::Error::custom)
            }
            None => Err(de::Error::missing_field(T::TAG)),
        }
    }
}

/// Reads a key; `None` if it is the tag.
struct KeySeed(&'static str);

impl<'de> DeserializeSeed<'de> for KeySeed {
    type Value = Option<String>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for KeySeed {
    type Value = Option<String>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a key")
    }

    fn visit_str<E: de::Error>(self, key: &str) -> Result<Self::Value, E> {
        Ok((key != self.0).then(|| key.to_owned()))
    }
}

/// An object whose next value names the variant; the other keys are its fields.
struct Object<A>(A);

impl<'de, A: MapAccess<'de>> Deserializer<'de> for Object<A> {
    type Error = A::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, A::Error> {
        visitor.visit_enum(self)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

impl<'de, A: MapAccess<'de>> EnumAccess<'de> for Object<A> {
    type Error = A::Error;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(mut self, seed: V) -> Result<(V::Value, Self), A::Error> {
        let variant = self.0.next_value_seed(seed)?;
        Ok((variant, self))
    }
}

impl<'de, A: MapAccess<'de>> VariantAccess<'de> for Object<A> {
    type Error = A::Error;

    fn unit_variant(mut self) -> Result<(), A::Error> {
        while self.0.next_entry::<de::IgnoredAny, de::IgnoredAny>()?.is_some() {}
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, A::Error> {
        seed.deserialize(MapAccessDeserializer::new(self.0))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _n_fields: usize, _visitor: V) -> Result<V::Value, A::Error> {
        Err(de::Error::custom(UNSUPPORTED))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        visitor.visit_map(self.0)
    }
}

const UNSUPPORTED: &str = "only variants with named fields can be tagged";

/// Writes a variant with named fields as an object that begins with the tag.
struct Writer<S> {
    tag: &'static str,
    serializer: S,
}

struct Fields<S>(S);

impl<S: SerializeStruct> SerializeStructVariant for Fields<S> {
    type Ok = S::Ok;
    type Error = S::Error;

    fn serialize_field<T: ?Sized + ser::Serialize>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), S::Error> {
        self.0.serialize_field(key, value)
    }

    fn skip_field(&mut self, key: &'static str) -> Result<(), S::Error> {
        self.0.skip_field(key)
    }

    fn end(self) -> Result<S::Ok, S::Error> {
        self.0.end()
    }
}

/// Refuses everything but variants with named fields.
macro_rules! refused {
    ($($name:ident($($argument:ty),*) -> $result:ty;)*) => {
        $(fn $name(self, $(_: $argument),*) -> Result<$result, S::Error> {
            Err(ser::Error::custom(UNSUPPORTED))
        })*
    };
}

impl<S: Serializer> Serializer for Writer<S> {
    type Ok = S::Ok;
    type Error = S::Error;
    type SerializeSeq = Impossible<S::Ok, S::Error>;
    type SerializeTuple = Impossible<S::Ok, S::Error>;
    type SerializeTupleStruct = Impossible<S::Ok, S::Error>;
    type SerializeTupleVariant = Impossible<S::Ok, S::Error>;
    type SerializeMap = Impossible<S::Ok, S::Error>;
    type SerializeStruct = Impossible<S::Ok, S::Error>;
    type SerializeStructVariant = Fields<S::SerializeStruct>;

    fn serialize_struct_variant(
        self,
        name: &'static str,
        _index: u32,
        variant: &'static str,
        n_fields: usize,
    ) -> Result<Self::SerializeStructVariant, S::Error> {
        let mut fields = self.serializer.serialize_struct(name, n_fields + 1)?;
        fields.serialize_field(self.tag, variant)?;
        Ok(Fields(fields))
    }

    refused! {
        serialize_bool(bool) -> S::Ok;
        serialize_i8(i8) -> S::Ok;
        serialize_i16(i16) -> S::Ok;
        serialize_i32(i32) -> S::Ok;
        serialize_i64(i64) -> S::Ok;
        serialize_u8(u8) -> S::Ok;
        serialize_u16(u16) -> S::Ok;
        serialize_u32(u32) -> S::Ok;
        serialize_u64(u64) -> S::Ok;
        serialize_f32(f32) -> S::Ok;
        serialize_f64(f64) -> S::Ok;
        serialize_char(char) -> S::Ok;
        serialize_str(&str) -> S::Ok;
        serialize_bytes(&[u8]) -> S::Ok;
        serialize_none() -> S::Ok;
        serialize_unit() -> S::Ok;
        serialize_unit_struct(&'static str) -> S::Ok;
        serialize_unit_variant(&'static str, u32, &'static str) -> S::Ok;
        serialize_seq(Option<usize>) -> Self::SerializeSeq;
        serialize_tuple(usize) -> Self::SerializeTuple;
        serialize_tuple_struct(&'static str, usize) -> Self::SerializeTupleStruct;
        serialize_tuple_variant(&'static str, u32, &'static str, usize) -> Self::SerializeTupleVariant;
        serialize_map(Option<usize>) -> Self::SerializeMap;
        serialize_struct(&'static str, usize) -> Self::SerializeStruct;
    }

    fn serialize_some<T: ?Sized + ser::Serialize>(self, _value: &T) -> Result<S::Ok, S::Error> {
        Err(ser::Error::custom(UNSUPPORTED))
    }

    fn serialize_newtype_struct<T: ?Sized + ser::Serialize>(
        self,
        _name: &'static str,
        _value: &T,
    ) -> Result<S::Ok, S::Error> {
        Err(ser::Error::custom(UNSUPPORTED))
    }

    fn serialize_newtype_variant<T: ?Sized + ser::Serialize>(
        self,
        _name: &'static str,
        _index: u32,
        _variant: &'static str,
        _value: &T,
    ) -> Result<S::Ok, S::Error> {
        Err(ser::Error::custom(UNSUPPORTED))
    }
}

#[cfg(test)]
#[path = "tagged_tests.rs"]
mod tests;
