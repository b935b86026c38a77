namespace Snapper.Live.Links;

/// <summary>A road on which anything may happen: a whole <see cref="Link"/>, or a <see cref="Lane"/> of it.</summary>
internal interface IRoad
{
    /// <summary>From the caller to the target.</summary>
    Direction Up { get; }

    /// <summary>From the target to the caller.</summary>
    Direction Down { get; }

    /// <summary>Connections that it carries now.</summary>
    int Connections { get; }

    /// <summary>Breaks every connection with a reset, and new ones when asked to, until <see cref="Heal"/>.</summary>
    void Cut(bool refuses);

    /// <summary>Clear weather in both directions, for old and new connections.</summary>
    void Heal();

    /// <summary>This weather, in these directions.</summary>
    void Put(Weather weather, bool up, bool down)
    {
        if (up)
        {
            Up.Set(weather);
        }

        if (down)
        {
            Down.Set(weather);
        }
    }

    /// <summary>Nothing passes in these directions; it stays under way.</summary>
    void Hold(bool up, bool down) => Put(new Weather(Holds: true), up, down);
}
