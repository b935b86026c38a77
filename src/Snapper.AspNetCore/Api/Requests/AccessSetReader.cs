using System.Buffers;
using System.Text.Json;
using Snapper.AspNetCore.Api.Answers;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Door;

namespace Snapper.AspNetCore.Api.Requests;

/// <summary>
/// Reads an access set: type -> id -> count, type -> id -> <c>{"calls": count}</c>, or type -> array of ids (one call each).
/// </summary>
internal static class AccessSetReader
{
    // Up to here comparing with each is faster than a hash set, and allocates nothing.
    private const int ScannedActorsMax = 32;

    /// <param name="json">On the value; afterwards on its last token.</param>
    /// <param name="root">The root, where it is known already: its key and type are then shared instead of made again.</param>
    /// <returns>Each actor once, in the order of the body; null for JSON null.</returns>
    /// <exception cref="MalformedRequestException">Wrong form, an actor or a type twice, or too many actors.</exception>
    public static DeclaredAccess[]? Read(ref Utf8JsonReader json, ActorKey? root)
    {
        if (json.TokenType == JsonTokenType.Null)
        {
            return null;
        }

        if (json.TokenType != JsonTokenType.StartObject)
        {
            throw Malformed("access must be an object: type -> id -> count.");
        }

        var collected = ArrayPool<DeclaredAccess>.Shared.Rent(ApiOptions.AccessActorsMax);
        var set = new Collector(collected);
        try
        {
            while (json.Read() && json.TokenType == JsonTokenType.PropertyName)
            {
                var type = root is not null && JsonNames.IsPlainly(in json, root.Type) ? root.Type : JsonNames.ActorType(in json, "access");
                set.BeginType(type);
                json.Read();
                switch (json.TokenType)
                {
                    case JsonTokenType.StartObject: ReadCounts(ref json, ref set, type, root); break;
                    case JsonTokenType.StartArray: ReadIds(ref json, ref set, type, root); break;
                    default: throw Malformed($"access.{type} must be an object of ids and counts, or an array of ids.");
                }
            }

            return set.ToArray();
        }
        finally
        {
            ArrayPool<DeclaredAccess>.Shared.Return(collected, clearArray: true);
        }
    }

    private static void ReadCounts(ref Utf8JsonReader json, ref Collector set, string type, ActorKey? root)
    {
        while (json.Read() && json.TokenType == JsonTokenType.PropertyName)
        {
            set.RequireRoom();
            var actor = Key(in json, type, root);
            json.Read();
            set.Add(actor, ReadCount(ref json, actor));
        }
    }

    private static void ReadIds(ref Utf8JsonReader json, ref Collector set, string type, ActorKey? root)
    {
        while (json.Read() && json.TokenType != JsonTokenType.EndArray)
        {
            set.RequireRoom();
            set.Add(Key(in json, type, root), 1);
        }
    }

    private static ActorKey Key(in Utf8JsonReader json, string type, ActorKey? root)
    {
        if (root is not null && ReferenceEquals(type, root.Type)
            && json.TokenType is JsonTokenType.PropertyName or JsonTokenType.String && JsonNames.IsPlainly(in json, root.Id))
        {
            return root;
        }

        return new ActorKey(type, JsonNames.ActorId(in json, type, "access."));
    }

    private static int ReadCount(ref Utf8JsonReader json, ActorKey actor)
    {
        if (json.TokenType == JsonTokenType.StartObject)
        {
            return ReadCallsObject(ref json, actor);
        }

        return json.TokenType == JsonTokenType.Number && json.TryGetInt32(out var calls) && calls >= 1
            ? calls
            : throw Malformed($"{Path(actor)} must be a whole number of calls, 1 to 2147483647.");
    }

    private static int ReadCallsObject(ref Utf8JsonReader json, ActorKey actor)
    {
        var calls = 0;
        while (json.Read() && json.TokenType == JsonTokenType.PropertyName)
        {
            // Keys, ranges and modes come with keyed types; a type without them must not seem to honour them.
            if (!JsonNames.Is(in json, "calls"u8) || calls != 0)
            {
                throw Malformed($"{Path(actor)} has the one field calls; {ClippedText.Of(json)} is unknown or repeated.");
            }

            json.Read();
            if (json.TokenType != JsonTokenType.Number || !json.TryGetInt32(out calls) || calls < 1)
            {
                throw Malformed($"{Path(actor)}.calls must be a whole number, 1 to 2147483647.");
            }
        }

        return calls != 0 ? calls : throw Malformed($"{Path(actor)}.calls is missing.");
    }

    private static string Path(ActorKey actor) => $"access.{actor.Type}.{ClippedText.Of(actor.Id)}";

    private static MalformedRequestException Malformed(string detail) => new(RejectionKind.Invalid, detail);

    /// <summary>The set as far as it was read. A mutable struct: pass by reference.</summary>
    private struct Collector(DeclaredAccess[] actors)
    {
        private HashSet<ActorKey>? _index;
        private List<string>? _earlierTypes;
        private string? _type;
        private int _count;

        public void BeginType(string type)
        {
            if (_type is not null)
            {
                (_earlierTypes ??= []).Add(_type);
                if (_earlierTypes.Contains(type))
                {
                    throw Malformed($"access names the type {type} more than once.");
                }

                // Types without actors would make a set of any length that never fills up.
                RequireRoom(_earlierTypes.Count);
            }

            _type = type;
        }

        public readonly void RequireRoom() => RequireRoom(_count);

        public void Add(ActorKey actor, int calls)
        {
            if (Contains(actor))
            {
                throw Malformed($"{Path(actor)} appears more than once.");
            }

            actors[_count++] = new DeclaredAccess(actor, calls);
            _index?.Add(actor);
        }

        public readonly DeclaredAccess[] ToArray() => actors.AsSpan(0, _count).ToArray();

        private static void RequireRoom(int used)
        {
            if (used >= ApiOptions.AccessActorsMax)
            {
                throw new MalformedRequestException(RejectionKind.TooMany, "access names more than 256 actors.");
            }
        }

        private bool Contains(ActorKey actor)
        {
            if (_count < ScannedActorsMax)
            {
                for (var i = 0; i < _count; i++)
                {
                    if (actors[i].Actor.Equals(actor))
                    {
                        return true;
                    }
                }

                return false;
            }

            if (_index is null)
            {
                _index = new HashSet<ActorKey>(ApiOptions.AccessActorsMax);
                for (var i = 0; i < _count; i++)
                {
                    _index.Add(actors[i].Actor);
                }
            }

            return _index.Contains(actor);
        }
    }
}
