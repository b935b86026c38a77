namespace Snapper.Cli.Importing;

/// <summary>A key of an actor's state in Dapr's store: <c>app||type||id||name</c>, without the first part.</summary>
/// <param name="Type">The actor's type.</param>
/// <param name="Id">The actor's id.</param>
/// <param name="Name">The name of the state.</param>
internal readonly record struct DaprKey(string Type, string Id, string Name) : IComparable<DaprKey>
{
    /// <summary>What stands between the parts.</summary>
    public const string Separator = "||";

    /// <summary>Reads what stands behind the prefix.</summary>
    /// <returns>
    /// Null: it has not three parts. Dapr escapes nothing, so that a part with a separator in it has no end.
    /// </returns>
    public static DaprKey? Read(ReadOnlySpan<char> rest)
    {
        var type = rest.IndexOf(Separator, StringComparison.Ordinal);
        if (type <= 0) return null;
        var behind = rest[(type + Separator.Length)..];
        var id = behind.IndexOf(Separator, StringComparison.Ordinal);
        if (id <= 0) return null;
        var name = behind[(id + Separator.Length)..];
        return name.IsEmpty || name.Contains(Separator, StringComparison.Ordinal)
            ? null
            : new DaprKey(rest[..type].ToString(), behind[..id].ToString(), name.ToString());
    }

    public int CompareTo(DaprKey other)
    {
        var order = string.CompareOrdinal(Type, other.Type);
        if (order == 0) order = string.CompareOrdinal(Id, other.Id);
        return order == 0 ? string.CompareOrdinal(Name, other.Name) : order;
    }

    public override string ToString() => $"{Type}{Separator}{Id}{Separator}{Name}";
}
